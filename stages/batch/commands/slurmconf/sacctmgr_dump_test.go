package slurmconf

import "testing"

// The file that sacctmgr dump writes says the same as sacctmgr show assoc.
func TestDump(t *testing.T) {
	conf := plainConf + "AccountingStorageEnforce=limits\nNodeName=a1 CPUs=8\nPartitionName=main Nodes=ALL Default=YES\n"
	const dump = "# To edit this file start with a cluster line for the new cluster\n" +
		"Cluster - 'demo':Fairshare=1:QOS='normal'\nParent - 'root'\nUser - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n" +
		"Account - 'physics':Description='a: b':Organization='o':Fairshare=50:GrpTRES=cpu=96,node=3:GrpTRESMins=cpu=9\n" +
		"Parent - 'physics'\nAccount - 'quantum':Fairshare=2\nUser - 'ada':DefaultAccount='physics':Fairshare=3:MaxJobs=2:MaxWallDurationPerJob=40\n" +
		"Parent - 'quantum'\nUser - 'bob':DefaultQOS='high'\n"
	want := []string{"shares = 50", "group_cores = 96", "group_nodes = 3", "max_jobs = 2", `max_wall = "40m"`, `parent = "physics"`,
		`default_qos = "high"`, "GrpTRESMins=cpu=9 of account physics: tfexp ignores this limit"}
	check(t, "dump", twinOf(t, map[string]string{"slurm.conf": conf, "dump.cfg": dump}, "dump.cfg"), want, []string{"error"})
	const rows = "Cluster|Account|User|Par Name|Share|GrpTRES|GrpTRESMins|GrpJobs|MaxTRES|MaxJobs|MaxWall|Def QOS\ndemo|root|||1|||||||\n" +
		"demo|root|root||1|||||||\ndemo|physics||root|50|cpu=96,node=3|cpu=9|||||\ndemo|quantum||physics|2|||||||\n" +
		"demo|physics|ada||3|||||2|40|\ndemo|quantum|bob||1|||||||high\n"
	check(t, "assoc", twinOf(t, map[string]string{"slurm.conf": conf, "assoc.txt": rows}, "assoc.txt"), want, []string{"error"})
	for _, c := range [][2]string{
		{"Cluster - 'demo':Fairshare=1\nAccount - 'a':Fairshair=3\n", "error: dump.cfg:2: sacctmgr dump has no option Fairshair"},
		{"Cluster - 'demo':Fairshare=1\nGroup - 'a'\n", "error: dump.cfg:2: this is no line of sacctmgr dump"},
	} {
		check(t, c[0], twinOf(t, map[string]string{"slurm.conf": conf, "dump.cfg": c[0]}, "dump.cfg"), []string{c[1]}, nil)
	}
	for _, c := range [][2]string{
		{"User|Account|Share|Foo\n", "error: t.txt:1: Columns of `sacctmgr -P show assoc`: these do not include Foo."},
		{"Account|Share\n", "error: t.txt:1: the table has no column User: print the table with  sacctmgr -P show assoc"},
		{"Name|Priority|MaxWall\nnormal|0|\n", "t.txt:1: the table has no column Preempt, GrpTRES, GrpJobs, MaxTRES, MaxTRESPU, MaxJobsPU"},
	} {
		check(t, c[0], twinOf(t, map[string]string{"slurm.conf": conf, "t.txt": c[0]}, "t.txt"), []string{c[1]}, nil)
	}
}
