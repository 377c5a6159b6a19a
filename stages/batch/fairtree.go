package batch

import (
	"cmp"
	"math"
	"slices"
)

// rankTree gives each user a factor by Fair Tree: siblings are ordered by their shares relative to their usage,
// depth first, and users are ranked in that order. Equal siblings share a rank, and equal accounts are merged. (R.
// Cox, L. Morrison: Fair Tree, Slurm User Group 2014.)
func (cfg *clusterConfig) rankTree() {
	setLevels(cfg.root)
	t := ranking{left: countUsers(cfg.root), users: float64(countUsers(cfg.root))}
	t.rank = t.left
	t.visit(cfg.root.children, false)
}

func countUsers(a *association) (n int) {
	for _, c := range a.children {
		if c.user {
			n++
		} else {
			n += countUsers(c)
		}
	}
	return n
}

// setLevels sets the fairness of the children of an account, and of those below.
func setLevels(a *association) {
	shares := 0
	used := 0.0
	for _, c := range a.children {
		shares, used = shares+c.Shares, used+c.raw
	}
	for _, c := range a.children {
		switch {
		case c.Shares == 0 || shares == 0:
			c.level = 0
		case c.raw <= 0 || used <= 0:
			c.level = math.Inf(1)
		default:
			c.level = float64(c.Shares) / float64(shares) / (c.raw / used)
		}
		if !c.user {
			setLevels(c)
		}
	}
}

// ranking is a walk through the tree.
type ranking struct {
	left, rank int // of the next user, and of the last one
	users      float64
}

// visit ranks siblings; tied says that the first of them are like the last that was ranked.
func (t *ranking) visit(siblings []*association, tied bool) {
	list := slices.Clone(siblings)
	slices.SortStableFunc(list, func(a, b *association) int {
		if a.level == b.level {
			return cmp.Compare(userFirst(a), userFirst(b))
		}
		return cmp.Compare(b.level, a.level)
	})
	for i := 0; i < len(list); i++ {
		a := list[i]
		like := i == 0 && tied || i > 0 && list[i-1].level == a.level
		if a.user {
			if !like {
				t.rank = t.left
			}
			a.factor = float64(t.rank) / t.users
			t.left--
			continue
		}
		children := a.children
		for i+1 < len(list) && list[i+1].level == a.level {
			i++
			children = slices.Concat(children, list[i].children)
		}
		t.visit(children, like)
	}
}

func userFirst(a *association) int {
	if a.user {
		return 0
	}
	return 1
}

// divide charges the accounts below an account, which has a part of all shares. Users are charged when their shares are
// needed.
func (cfg *clusterConfig) divide(a *association, whole float64) {
	sum := 0
	for _, c := range a.children {
		sum += c.Shares
	}
	for _, c := range a.children {
		c.part = float64(c.Shares) / float64(max(sum, 1))
		c.whole = whole * c.part
		if c.stale = c.user; !c.user {
			cfg.charge(c)
			cfg.divide(c, c.whole)
		}
	}
}

// charge sets the part of all usage that counts as a user's or an account's: its own, and by its shares a part of what
// its account was charged with when that was charged. Slurm's multifactor plugin does so without Fair Tree.
func (cfg *clusterConfig) charge(a *association) {
	if a.level = 0; cfg.root.raw > 0 {
		a.level = min(a.raw/cfg.root.raw, 1)
	}
	if a.parent != cfg.root {
		a.level += (a.parent.level - a.level) * a.part
	}
}
