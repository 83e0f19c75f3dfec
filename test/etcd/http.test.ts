// Covers src/etcd/http/connection.ts, src/etcd/http/dial.ts, src/etcd/http/gateway-request.ts,
// src/etcd/http/http-member.ts, src/etcd/http/stream.ts
import { storeContract } from "./contract/index.ts";
import { createServedSubject } from "./served.ts";

storeContract("the http transport", () => createServedSubject("http"));
