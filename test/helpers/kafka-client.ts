import { Kafka, logLevel } from 'kafkajs';
import { kafkaBrokers } from './services.ts';

/** A client of the run's Kafka. What fails is told by what it is asked for; it logs nothing. Needs 'kafka'. */
export const kafkaClient = (): Kafka =>
  new Kafka({ brokers: kafkaBrokers().split(','), logLevel: logLevel.NOTHING });
