process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../kafka-scram.test.ts');
