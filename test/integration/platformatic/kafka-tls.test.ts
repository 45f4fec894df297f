process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../kafka-tls.test.ts');
