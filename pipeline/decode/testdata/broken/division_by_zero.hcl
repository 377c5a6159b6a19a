# A division by zero in a text, and arithmetic with the text "Inf", are errors, not the text "+Inf".
experiment "e" {
  description = "one of ${1 / 0}"
}

job "a" {
  command = ["train", "--rate=${5 % 0}", upper(pow(0, -1))]
  epochs  = 2
  threads = 1
  runtime { epoch = "1s" }
  env = { RATE = "${"Inf" + 1}" }
}

workload "w" {
  submit { job = job.a }
}

hardware "h" {
  engine  = "simulated"
  threads = 2
}

policy "p" { order = "fcfs" }
