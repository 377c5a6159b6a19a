experiment "e" { seed = 1 }
job "a" {
  builtin "softmax" {}
  epochs = 10
  runtime { epoch = "1s" }
}
workload "w" {
  submit {
    job = job.a
  }
}
hardware "h" {
  engine = "simulated"
  threads = 2
}
policy "p" { order = "fcfs" }
policy "p0" { ordr = "fcfs" }
policy "p1" { ordr = "fcfs" }
policy "p2" { ordr = "fcfs" }
policy "p3" { ordr = "fcfs" }
policy "p4" { ordr = "fcfs" }
policy "p5" { ordr = "fcfs" }
policy "p6" { ordr = "fcfs" }
policy "p7" { ordr = "fcfs" }
policy "p8" { ordr = "fcfs" }
policy "p9" { ordr = "fcfs" }
policy "p10" { ordr = "fcfs" }
policy "p11" { ordr = "fcfs" }
policy "p12" { ordr = "fcfs" }
policy "p13" { ordr = "fcfs" }
policy "p14" { ordr = "fcfs" }
policy "p15" { ordr = "fcfs" }
policy "p16" { ordr = "fcfs" }
policy "p17" { ordr = "fcfs" }
policy "p18" { ordr = "fcfs" }
policy "p19" { ordr = "fcfs" }
policy "p20" { ordr = "fcfs" }
policy "p21" { ordr = "fcfs" }
policy "p22" { ordr = "fcfs" }
policy "p23" { ordr = "fcfs" }
policy "p24" { ordr = "fcfs" }
policy "p25" { ordr = "fcfs" }
policy "p26" { ordr = "fcfs" }
policy "p27" { ordr = "fcfs" }
policy "p28" { ordr = "fcfs" }
policy "p29" { ordr = "fcfs" }
policy "p30" { ordr = "fcfs" }
policy "p31" { ordr = "fcfs" }
policy "p32" { ordr = "fcfs" }
policy "p33" { ordr = "fcfs" }
policy "p34" { ordr = "fcfs" }
policy "p35" { ordr = "fcfs" }
policy "p36" { ordr = "fcfs" }
policy "p37" { ordr = "fcfs" }
policy "p38" { ordr = "fcfs" }
policy "p39" { ordr = "fcfs" }
