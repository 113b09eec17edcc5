import "./condition-pattern.test.ts";
