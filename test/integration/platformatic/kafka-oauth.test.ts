process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../kafka-oauth.test.ts');
