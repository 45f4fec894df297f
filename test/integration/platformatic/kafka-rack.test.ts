process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../kafka-rack.test.ts');
