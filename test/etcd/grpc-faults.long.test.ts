import { clusterFaults } from "./cluster-faults.ts";
import { networkFaults } from "./network-faults.ts";

networkFaults("grpc");
clusterFaults("grpc");
