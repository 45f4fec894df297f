process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../kafka-mtls.test.ts');
