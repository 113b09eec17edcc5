import "./fuzz-grpc.test.ts";
