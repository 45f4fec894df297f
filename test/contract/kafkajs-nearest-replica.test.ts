import { testNearestReplica } from './kafka-nearest-replica.ts';
import { kafkajsDriver } from './kafkajs-broker.ts';

testNearestReplica('kafkajs', kafkajsDriver);
