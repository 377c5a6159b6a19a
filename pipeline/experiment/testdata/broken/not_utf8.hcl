experiment "café" {
}
