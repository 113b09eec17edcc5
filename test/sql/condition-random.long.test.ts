import "./condition-random.test.ts";
