import "./differential.test.ts";
