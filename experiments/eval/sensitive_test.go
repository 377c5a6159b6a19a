package eval

import "testing"

func TestNamesSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"token": true, "api_key": true, "apiKey": true, "API_KEY": true, "dbPassword": true, "passwd": true, "hub-token": true,
		"aws_credentials": true, "client_secret": true, "key": true, "ssh_private_key": true, "sort_key": false, "key_column": false, "monkey": false, "tokenizer": false, "keyboard": false,
		"max_tokens": false, "secretary": false, "api": false, "quantum": false,
	} {
		if namesSecret(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
