import "./kept-answers.test.ts";
