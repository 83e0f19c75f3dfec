import { createServedSubject } from "../../../fixtures/etcd/served-subject.ts";
import { testStoreContract } from "./contract/index.ts";

testStoreContract("the grpc transport", () => createServedSubject("grpc"));
