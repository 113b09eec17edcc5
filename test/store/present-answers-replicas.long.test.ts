import "./present-answers-replicas.test.ts";
