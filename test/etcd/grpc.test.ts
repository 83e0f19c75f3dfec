import { storeContract } from "./contract/index.ts";
import { servedSubject } from "./served.ts";

storeContract("the grpc transport", () => servedSubject("grpc"));
