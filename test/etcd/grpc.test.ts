// Covers src/etcd/cluster/cluster-pin.ts, src/etcd/cluster/cluster-store.ts,
// src/etcd/cluster/member-status.ts, src/etcd/cluster/open-watch.ts, src/etcd/cluster/pinned-member.ts,
// src/etcd/grpc/call-interceptor.ts, src/etcd/grpc/grpc-member.ts, src/etcd/grpc/shared-client.ts,
// src/etcd/grpc/stream.ts, src/etcd/grpc/transport.ts, src/etcd/wire-codec.ts
import { storeContract } from "./contract/index.ts";
import { createServedSubject } from "./served.ts";

storeContract("the grpc transport", () => createServedSubject("grpc"));
