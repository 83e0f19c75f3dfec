import { testPasswords, testTls } from "./secured.ts";

testTls("grpc");
testPasswords("grpc");
