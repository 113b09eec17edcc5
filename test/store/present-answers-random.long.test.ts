import "./present-answers-random.test.ts";
