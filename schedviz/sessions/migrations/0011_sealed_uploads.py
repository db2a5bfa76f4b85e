"""Uploads are encrypted; those that wait for their import while this runs are not."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0010_agreement")]

    operations = [
        migrations.AddField(model_name="upload", name="sealed", field=models.BooleanField(db_default=False, default=False)),
    ]
