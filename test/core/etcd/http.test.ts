import { createServedSubject } from "../../../fixtures/etcd/served-subject.ts";
import { testStoreContract } from "./contract/index.ts";

testStoreContract("the http transport", () => createServedSubject("http"));
