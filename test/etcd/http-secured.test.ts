// Covers src/etcd/member-errors.ts
import { testPasswords, testTls } from "./secured.ts";

testTls("http");
testPasswords("http");
