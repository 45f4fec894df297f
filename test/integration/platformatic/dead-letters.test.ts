process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../dead-letters.test.ts');
