package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	basev1 "pemba/gen/base/v1"
)

func main() {
	address, token, certificate := os.Args[1], os.Args[2], os.Args[3]
	secure, err := credentials.NewClientTLSFromFile(certificate, "")
	check(err)
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(secure))
	check(err)
	defer connection.Close()
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)

	tenant := fmt.Sprintf("go-%d", time.Now().UnixNano())
	_, err = basev1.NewTenancyClient(connection).Create(ctx, &basev1.TenantCreateRequest{
		Id: tenant, Name: "an example",
	})
	check(err)
	_, err = basev1.NewSchemaClient(connection).Write(ctx, &basev1.SchemaWriteRequest{
		TenantId: tenant,
		Schema:   "entity user {} entity document { relation viewer @user permission view = viewer }",
	})
	check(err)
	document := &basev1.Entity{Type: "document", Id: "plan"}
	ada := &basev1.Subject{Type: "user", Id: "ada"}
	written, err := basev1.NewDataClient(connection).Write(ctx, &basev1.DataWriteRequest{
		TenantId: tenant,
		Metadata: &basev1.DataWriteRequestMetadata{},
		Tuples:   []*basev1.Tuple{{Entity: document, Relation: "viewer", Subject: ada}},
	})
	check(err)
	checked, err := basev1.NewPermissionClient(connection).Check(ctx, &basev1.PermissionCheckRequest{
		TenantId:   tenant,
		Metadata:   &basev1.PermissionCheckRequestMetadata{SnapToken: written.SnapToken},
		Entity:     document,
		Permission: "view",
		Subject:    ada,
	})
	check(err)
	fmt.Println(checked.Can)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
