package platform

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// batsimResource is a machine of Batsim. Each core of the cluster is one machine.
type batsimResource struct {
	ID         int               `json:"id"`
	Name       string            `json:"name"`
	State      string            `json:"state"`
	Cores      int               `json:"core_count"`
	Properties map[string]string `json:"properties"`
	Zone       map[string]string `json:"zone_properties"`
}

// batsimResources are the cores of a cluster, as Batsim sends them to a
// scheduler.
func batsimResources(c cluster.Cluster) []batsimResource {
	resources := []batsimResource{}
	for _, n := range c.Nodes {
		for range n.Threads {
			id := len(resources)
			resources = append(resources, batsimResource{ID: id, Name: fmt.Sprintf("%s-%d", n.Name, id), State: "idle", Cores: 1,
				Properties: map[string]string{"node": n.Name}, Zone: map[string]string{}})
		}
	}
	return resources
}

// writeSimGrid writes a SimGrid platform for Batsim in which each core is a host. Speeds and links are arbitrary,
// because profiles of the type delay do not use them.
func writeSimGrid(w io.Writer, c cluster.Cluster) error {
	type prop struct {
		ID    string `xml:"id,attr"`
		Value string `xml:"value,attr"`
	}
	type host struct {
		ID    string `xml:"id,attr"`
		Speed string `xml:"speed,attr"`
		Props []prop `xml:"prop"`
	}
	type zone struct {
		ID      string `xml:"id,attr"`
		Routing string `xml:"routing,attr"`
		Hosts   []host `xml:"host"`
	}
	type platform struct {
		XMLName xml.Name `xml:"platform"`
		Version string   `xml:"version,attr"`
		Zone    zone     `xml:"zone"`
	}
	p := platform{Version: "4.1", Zone: zone{ID: "cluster", Routing: "None"}}
	p.Zone.Hosts = append(p.Zone.Hosts, host{"master_host", "1Gf", []prop{{"role", "master"}}})
	for _, r := range batsimResources(c) {
		p.Zone.Hosts = append(p.Zone.Hosts, host{r.Name, "1Gf", []prop{{"node", r.Properties["node"]}}})
	}
	if _, err := io.WriteString(w, xml.Header+"<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"); err != nil {
		return err
	}
	to := xml.NewEncoder(w)
	to.Indent("", "  ")
	if err := to.Encode(p); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
