import { DEFECTS, EVIDENT } from './defects.ts';
import { testFinding } from './find.ts';

const evident = Object.entries(DEFECTS).filter(([name]) => EVIDENT.includes(name));

testFinding(Object.fromEntries(evident), 100);
