experiment "bad" {}
job "j" { 
  builtin "softmax" {} 
  epochs = 3 
  runtime { epoch = "1m" }
  checkpoint { every = "0s" }
}
workload "w" { 
  submit { job = job.j } 
}
hardware "h" { 
  engine = "simulated"
  node "a" { 
    threads = 1 
    price = -1 
  }
  node "b" { 
    threads = 1 
    lifetime = exponential("10s")
    warning = "1m" 
  }
  node "c" { 
    threads = 1 
    lifetime = survival("increasing.csv") 
  }
  node "d" { 
    threads = 1 
    region = "mars"
    price = catalogue("catalogue.csv") 
  }
}
policy "p" { order = "fcfs" }
