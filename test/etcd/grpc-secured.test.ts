// Covers src/etcd/cluster/key-access.ts, src/etcd/login/shared-logins.ts
import { overTls, withPasswords } from "./secured.ts";

overTls("grpc");
withPasswords("grpc");
