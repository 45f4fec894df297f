import { shortened } from '../support/shortened.ts';
import { Table } from '../support/table.ts';

/** A channel, as far as it is inspected. */
export interface InspectedChannel {
  readonly name: string;
  readonly groups: Iterable<{ readonly size: number }> & { readonly size: number };
  readonly offsets: {
    /** Dispatched since it was joined, copies left out. */
    readonly events: number;
  };
}

/** Most characters of a name that are shown: names contain values of keys. */
const MAX_NAME = 500;

/** The channels of a hub as a table, however many there are. */
export function channelTable(channels: ReadonlyMap<string, InspectedChannel>): Table<InspectedChannel> {
  return new Table<InspectedChannel>({
    size: () => channels.size,
    items: () => channels.values(),
    columns: {
      name: ({ name }) => name,
      groups: ({ groups }) => groups.size,
      subscribers,
      events: ({ offsets }) => offsets.events,
    },
    text: ({ name }) => name,
    row: (channel) => ({
      name: shortened(channel.name, MAX_NAME),
      groups: channel.groups.size,
      subscribers: subscribers(channel),
      events: channel.offsets.events,
    }),
    work: ({ groups }) => Math.max(1, groups.size),
  });
}

function subscribers({ groups }: InspectedChannel): number {
  let sum = 0;
  for (const { size } of groups) sum += size;
  return sum;
}
