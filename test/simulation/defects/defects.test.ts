import { testFinding } from './find.ts';

testFinding({ seeds: 20, areEvident: true });
