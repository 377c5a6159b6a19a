// Daemon is the connection to a Docker daemon: it finds out whether
// one can be used and what to do if not, has images fetched, and finds and
// removes the containers that a killed tfexp left behind. What runs in
// containers is the business of package docker.

package docker
