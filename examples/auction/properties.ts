/** A property as its producer sends it, in camelCase. */
export interface Property {
  readonly propertyId: string;
  readonly headline: string;
  readonly propertyType: 'APARTMENT' | 'HOUSE' | 'TERRACE' | 'LOFT';
  readonly address: Readonly<Record<'line1' | 'city' | 'postalCode' | 'countryCode', string>> & {
    readonly line2?: string;
    readonly location: { readonly latitude: number; readonly longitude: number };
  };
  readonly askingPrice: { readonly value: number; readonly currency: string };
  readonly bedrooms: number;
  readonly bathrooms: number;
  readonly livingAreaM2: number;
  readonly agent: Readonly<Record<'agentId' | 'displayName' | 'agencyName' | 'phoneNumber', string>>;
}

const AGENTS = [
  {
    agentId: 'agent-1',
    displayName: 'Marit de Vries',
    agencyName: 'Gracht & Partners',
    phoneNumber: '+31 20 555 0101',
  },
  {
    agentId: 'agent-2',
    displayName: 'Jonas Albrecht',
    agencyName: 'Hafenblick Immobilien',
    phoneNumber: '+49 40 555 0102',
  },
  {
    agentId: 'agent-3',
    displayName: 'Inês Carvalho',
    agencyName: 'Casa do Tejo',
    phoneNumber: '+351 21 555 0103',
  },
] as const;

export const PROPERTIES: readonly Property[] = [
  {
    propertyId: 'property-1',
    headline: 'Canal house with a garden of its own',
    propertyType: 'HOUSE',
    address: {
      line1: 'Prinsengracht 412',
      city: 'Amsterdam',
      postalCode: '1016 JC',
      countryCode: 'NL',
      location: { latitude: 52.3676, longitude: 4.8837 },
    },
    askingPrice: { value: 1_850_000, currency: 'EUR' },
    bedrooms: 4,
    bathrooms: 2,
    livingAreaM2: 212,
    agent: AGENTS[0],
  },
  {
    propertyId: 'property-2',
    headline: 'Loft in an old printing works',
    propertyType: 'LOFT',
    address: {
      line1: 'Große Elbstraße 73',
      line2: 'Hinterhaus, 3. Stock',
      city: 'Hamburg',
      postalCode: '22767',
      countryCode: 'DE',
      location: { latitude: 53.5441, longitude: 9.9412 },
    },
    askingPrice: { value: 940_000, currency: 'EUR' },
    bedrooms: 2,
    bathrooms: 1,
    livingAreaM2: 138,
    agent: AGENTS[1],
  },
  {
    propertyId: 'property-3',
    headline: 'Tiled apartment with a view of the river',
    propertyType: 'APARTMENT',
    address: {
      line1: 'Rua das Janelas Verdes 58',
      line2: '2º Esq.',
      city: 'Lisboa',
      postalCode: '1200-691',
      countryCode: 'PT',
      location: { latitude: 38.7049, longitude: -9.1606 },
    },
    askingPrice: { value: 615_000, currency: 'EUR' },
    bedrooms: 3,
    bathrooms: 2,
    livingAreaM2: 104,
    agent: AGENTS[2],
  },
  {
    propertyId: 'property-4',
    headline: 'Victorian terrace near the heath',
    propertyType: 'TERRACE',
    address: {
      line1: '17 Downshire Hill',
      city: 'London',
      postalCode: 'NW3 1NR',
      countryCode: 'GB',
      location: { latitude: 51.5575, longitude: -0.1687 },
    },
    askingPrice: { value: 2_300_000, currency: 'GBP' },
    bedrooms: 5,
    bathrooms: 3,
    livingAreaM2: 240,
    agent: AGENTS[0],
  },
];
