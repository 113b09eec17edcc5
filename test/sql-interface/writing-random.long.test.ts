import "./writing-random.test.ts";
