// Package example shows tests of an application: one server for all of them, and a tenant for each.
package example

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const schema = "entity user {} entity document { relation viewer @user permission view = viewer }"

type object = map[string]any

func TestDocuments(t *testing.T) {
	url := startPemba(t)

	t.Run("a viewer may view", func(t *testing.T) {
		t.Parallel()
		tenant := createTenant(t, url)
		viewer := object{
			"entity":   object{"type": "document", "id": "plan"},
			"relation": "viewer",
			"subject":  object{"type": "user", "id": "ada"},
		}
		post(t, tenant+"/data/write", object{"metadata": object{}, "tuples": []object{viewer}})
		if can := check(t, tenant, "ada"); can != "RESULT_ALLOWED" {
			t.Errorf("got %v", can)
		}
	})

	t.Run("a stranger may not", func(t *testing.T) {
		t.Parallel()
		if can := check(t, createTenant(t, url), "eve"); can != "RESULT_DENIED" {
			t.Errorf("got %v", can)
		}
	})
}

// startPemba starts a server that ends with t, and returns the base URL of REST.
func startPemba(t *testing.T) string {
	ctx := context.Background()
	pemba, err := testcontainers.Run(ctx, "pemba",
		testcontainers.WithCmd("serve", "--server-rate-limit", "1000000000"),
		testcontainers.WithExposedPorts("3476/tcp", "3478/tcp"),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/healthz").WithPort("3476/tcp")))
	testcontainers.CleanupContainer(t, pemba)
	if err != nil {
		t.Fatal(err)
	}
	url, err := pemba.PortEndpoint(ctx, "3476/tcp", "http")
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// createTenant makes a tenant that no other test has, and returns the URL of its operations.
func createTenant(t *testing.T, url string) string {
	id := rand.Text()
	post(t, url+"/v1/tenants/create", object{"id": id, "name": id})
	tenant := url + "/v1/tenants/" + id
	post(t, tenant+"/schemas/write", object{"schema": schema})
	return tenant
}

func check(t *testing.T, tenant, user string) any {
	return post(t, tenant+"/permissions/check", object{
		"metadata":   object{},
		"entity":     object{"type": "document", "id": "plan"},
		"permission": "view",
		"subject":    object{"type": "user", "id": user},
	})["can"]
}

func post(t *testing.T, url string, body object) object {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	result := object{}
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", url, result["message"])
	}
	return result
}
