import { testPasswords, testTls } from "./secured.ts";

testTls("http");
testPasswords("http");
