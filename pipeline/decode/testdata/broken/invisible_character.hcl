# A character that no editor shows is named.
experiment "e" {
  replicates = 2​
}
