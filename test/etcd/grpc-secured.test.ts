// Covers src/etcd/cluster/key-access.ts, src/etcd/login/shared-logins.ts
import { testPasswords, testTls } from "./secured.ts";

testTls("grpc");
testPasswords("grpc");
