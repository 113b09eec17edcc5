import "./layered-checks-random.test.ts";
