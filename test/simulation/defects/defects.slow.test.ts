import { DEFECTS, EVIDENT } from './defects.ts';
import { testFinding } from './find.ts';

const others = Object.entries(DEFECTS).filter(([name]) => !EVIDENT.includes(name));

testFinding(Object.fromEntries(others), 2_000);
