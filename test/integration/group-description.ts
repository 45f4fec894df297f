import { consumerGroupDescribeV0, type Reader } from '@platformatic/kafka';
import type { Admin } from 'kafkajs';
import { kafkaConnection } from '../../src/ingest/kafka/connection.ts';
import { Connections } from '../../src/ingest/kafka/platformatic/connections.ts';
import { createLog } from '../../src/log.ts';
import { PLAIN_KAFKA } from '../helpers/source-settings.ts';

interface GroupDescription {
  /** Each member has what it is to have. */
  readonly isStable: boolean;
  readonly memberIds: readonly string[];
}

const DESCRIBE = { key: 69, version: 0 };

/**
 * A group under either protocol: kafkajs can describe the classic ones only.
 *
 * @param broker the group's coordinator, as `host:port`
 */
export async function describeGroup(
  admin: Admin,
  broker: string,
  groupId: string,
): Promise<GroupDescription> {
  const { groups } = await admin.describeGroups([groupId]);
  const [classic] = groups;
  if (classic !== undefined && classic.members.length > 0) {
    const memberIds = classic.members.map(({ memberId }) => memberId);
    return { isStable: classic.state === 'Stable', memberIds };
  }
  const connection = kafkaConnection({ ...PLAIN_KAFKA, KAFKA_BROKERS: [broker] }, createLog('silent'));
  const connections = new Connections({ connection, requestTimeoutMs: 10_000, onAnswer: () => undefined });
  const [host = '', port] = broker.split(':');
  const create = () => consumerGroupDescribeV0.createRequest([groupId], false);
  const address = { host, port: Number(port) };
  const [group] = await connections
    .raw(address, 'describing', DESCRIBE, create, (_id, _key, _version, reader) => described(reader))
    .finally(() => connections.close());
  return { isStable: group?.state === 'Stable', memberIds: group?.memberIds ?? [] };
}

/** The package's own parser takes the list of a member's topics for text. */
function described(reader: Reader): { state: string; memberIds: readonly string[] }[] {
  reader.readInt32();
  return reader.readArray(() => {
    reader.readInt16();
    reader.readNullableString();
    reader.readString();
    const state = reader.readString();
    reader.readInt32();
    reader.readInt32();
    reader.readString();
    const memberIds = reader.readArray(() => memberIdOf(reader));
    reader.readInt32();
    return { state, memberIds };
  });
}

function memberIdOf(reader: Reader): string {
  const memberId = reader.readString();
  reader.readNullableString();
  reader.readNullableString();
  reader.readInt32();
  reader.readString();
  reader.readString();
  reader.readArray(() => reader.readString(), true, false);
  reader.readNullableString();
  for (const _ of ['assignment', 'target']) {
    reader.readArray(() => {
      reader.readUUID();
      reader.readString();
      return reader.readArray(() => reader.readInt32(), true, false);
    });
    reader.readTaggedFields();
  }
  return memberId;
}
