import "./replicas-random.test.ts";
