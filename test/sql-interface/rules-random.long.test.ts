import "./rules-random.test.ts";
