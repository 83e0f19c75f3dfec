// Covers src/etcd/member-errors.ts
import { overTls, withPasswords } from "./secured.ts";

overTls("http");
withPasswords("http");
