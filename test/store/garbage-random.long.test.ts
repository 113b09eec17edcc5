import "./garbage-random.test.ts";
