from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('scheduling', '0005_forks'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='tries',
            field=models.PositiveIntegerField(default=0),
        ),
    ]
